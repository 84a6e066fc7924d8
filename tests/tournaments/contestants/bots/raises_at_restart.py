from behaves import Bot as Behaves


class Bot(Behaves):
    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        if seat == 0:
            raise ZeroDivisionError("no seat for me")
