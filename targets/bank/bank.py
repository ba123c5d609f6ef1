"""A toy bank: money out of an account, and the monthly fee."""


class InvalidAmount(Exception):
    """The amount is zero or less."""


class Overdraft(Exception):
    """The amount is more than the account holds."""


def withdraw(balance: int, amount: int) -> int:
    """The balance after taking ``amount`` out."""
    if amount <= 0:
        raise InvalidAmount("the amount must be more than zero")
    if amount > balance:
        raise Overdraft("the account holds less than that")
    return balance - amount


def apply_fee(balance: int, plan: str) -> int:
    """The balance after the monthly fee; premium accounts pay nothing."""
    if plan == "premium":
        return balance
    if plan == "standard" and balance > 1000:
        fee = 5
    else:
        fee = 10
    return balance - fee
