"""The file of a cluster: the scheduler's address, and the key without which nobody can connect to the scheduler.

dask runs whatever code it is sent. Whoever reaches the scheduler therefore has its owner's rights, on every machine of
the cluster. Loopback is no boundary: other users' processes reach it. Therefore connections use TLS, and both sides
show the same certificate, unless the cluster was started with ``--insecure``. Only the cluster's file has the
certificate's key, and only its owner can read the file.
"""

import json
import os
import stat
from pathlib import Path
from typing import Any, NamedTuple

from plurispiel.abstraction.machine.files import write_atomically

__all__ = ["ClusterFile", "read_cluster_file"]


class ClusterFile(NamedTuple):
    """The content of the file.

    Attributes
    ----------
    address : str
        The scheduler's address, as dask writes it.
    certificate, key : str
        In PEM; both are empty for a cluster without encryption.
    """

    address: str
    certificate: str
    key: str

    @property
    def is_secure(self) -> bool:
        """Whether the cluster uses TLS."""
        return bool(self.key)

    def security(self) -> dict[str, Any]:
        """Return the arguments of `distributed.Security`."""
        if not self.is_secure:
            return {"require_encryption": False}
        roles = ("client", "scheduler", "worker")
        return (
            {"require_encryption": True, "tls_ca_file": self.certificate}
            | {f"tls_{role}_cert": self.certificate for role in roles}
            | {f"tls_{role}_key": self.key for role in roles}
        )

    def write(self, path: Path) -> None:
        """Write the file, readable by its owner alone."""
        write_atomically(path, json.dumps(self._asdict(), indent=1) + "\n", mode=0o600)


def read_cluster_file(path: Path) -> ClusterFile:
    """Return the content of a cluster's file.

    Raises
    ------
    ValueError
        If there is no such file, other users can read its key, or it was not written by ``plurispiel cluster``.
    """
    try:
        text = path.read_text(encoding="utf-8")
        mode = stat.S_IMODE(path.stat().st_mode)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"cannot read {path}: {reason}; plurispiel cluster {path} writes it") from None
    try:
        record = json.loads(text)
        found = ClusterFile(**record)
    except (ValueError, TypeError):
        raise ValueError(f"{path} was not written by plurispiel cluster") from None
    if not all(isinstance(each, str) for each in found) or bool(found.certificate) != bool(found.key):
        raise ValueError(f"{path} was not written by plurispiel cluster")
    if found.is_secure and os.name == "posix" and mode & 0o077:
        raise ValueError(
            f"other users can read the key in {path} (mode {mode:o}); chmod 600 {path}, and start the cluster again"
        )
    return found
