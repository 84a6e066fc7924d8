"""Kernels as parts of other kernels: intermediate code without machine code.

If one function calls another, numba first compiles the called function to machine code, and then once more as a part
of each caller. At the end of a chain of four callers, LLVM would optimise a kernel five times and write it out five
times. Here a kernel that another kernel calls is kept as intermediate code, which LLVM optimises only as a part of the
caller. A kernel gets machine code when Python calls it.

This module uses private names of numba, as `jit` uses the option ``_nrt``. numba's minor version is therefore pinned.
"""

from typing import Any

from llvmlite import binding as _llvm
from numba.core import compiler as _compiler
from numba.core import event as _event
from numba.core import sigutils as _sigutils
from numba.core import typing as _typing
from numba.core.caching import FunctionCache as _FunctionCache
from numba.core.codegen import JITCodeLibrary as _JITCodeLibrary
from numba.core.registry import CPUDispatcher as _CPUDispatcher

__all__ = ["KernelDispatcher"]


class _InnerLibrary(_JITCodeLibrary):
    """The intermediate code of a kernel, to be linked into its callers."""

    def _optimize_final_module(self) -> None:
        """Leave the optimisation to the callers."""

    def _finalize_final_module(self) -> None:
        """Leave the machine code to the callers."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        """Return the name and the intermediate code: there is no object code."""
        return self.name, self._get_module_for_linking().as_bitcode()

    @classmethod
    def read(cls, codegen: Any, state: tuple[str, bytes]) -> "_InnerLibrary":
        """Return a library from the result of `serialize_using_object_code`."""
        name, bitcode = state
        library = cls(codegen, name)
        library._final_module = _llvm.parse_bitcode(bitcode)
        library._finalized = True
        return library


class _InnerCache(_FunctionCache):
    """A kernel's cache of intermediate code, in the files of its cache of machine code.

    Parameters
    ----------
    machine_code : FunctionCache
        The kernel's cache of machine code.
    """

    def __init__(self, machine_code: _FunctionCache):
        self.__dict__.update(machine_code.__dict__)

    def _index_key(self, sig: Any, codegen: Any) -> tuple:
        return (*super()._index_key(sig, codegen), "inner")

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compile result of intermediate code, without a function for Python; None if the cache lacks it."""
        kept = self._cache_file.load(self._index_key(sig, target_context.codegen()))
        if kept is None:
            return None
        code, fndesc, environment, signature, objectmode, lifted, annotation, reload_init, environments = kept
        return _compiler.CompileResult(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=None,
            typing_error=None,
            type_annotation=annotation,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            fndesc=fndesc,
            library=_InnerLibrary.read(target_context.codegen(), code),
            call_helper=None,
            environment=environment,
            metadata=None,
            reload_init=reload_init,
            referenced_envs=environments,
        )


class KernelDispatcher(_CPUDispatcher):
    """A kernel: machine code for calls from Python, intermediate code for calls from other kernels."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._inner: dict[tuple, Any] = {}

    def compile(self, sig: Any) -> Any:
        """Compile the kernel for calls from Python, unless it is compiled already, and return the function."""
        known = len(self.overloads)
        compiled = super().compile(sig)
        if len(self.overloads) > known:
            # The kernels that are parts of this code read their environments from variables that are set here.
            result = self.overloads[tuple(_sigutils.normalize_signature(sig)[0])]
            for environment in result._find_referenced_environments():
                result.library.codegen.set_env(environment.env_name, environment)
        return compiled

    def get_call_template(self, args: Any, kws: Any) -> tuple:
        """Return the template of a call from another kernel, as `Dispatcher.get_call_template` does."""
        signature, types = self._compiler.fold_argument_types(args, kws)
        found = self._inner_result(tuple(types))
        name = self.py_func.__name__
        template = _typing.make_concrete_template(f"CallTemplate({name})", key=name, signatures=[found.signature])
        return template, signature, types, {}

    def get_overload(self, sig: Any) -> Any:
        """Return the key under which numba finds the intermediate code for a signature."""
        return self._inner_result(tuple(_sigutils.normalize_signature(sig)[0])).entry_point

    def _inner_result(self, types: tuple) -> Any:
        """Return the intermediate code for types of arguments, from the cache or new."""
        found = self._inner.get(types)
        if found is None:
            cache = _InnerCache(self._cache) if isinstance(self._cache, _FunctionCache) else self._cache
            found = cache.load_overload(types, self.targetctx)
            if found is None:
                with _event.trigger_event("numba:compile", data={"dispatcher": self, "args": types}):
                    found = self._compile_inner(types)
                cache.save_overload(types, found)
            found = self._inner[types] = found._replace(entry_point=object())
            self.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
        return found

    def _compile_inner(self, types: tuple) -> Any:
        flags = _compiler.Flags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return _compiler.compile_extra(
            self.targetdescr.typing_context,
            self.targetdescr.target_context,
            self.py_func,
            types,
            None,
            flags,
            {},
            library=_InnerLibrary(self.targetctx.codegen(), self.py_func.__qualname__),
        )
