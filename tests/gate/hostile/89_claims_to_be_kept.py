# refused: passes-on-mutant by: runs
import bank

kept = True
reason = "kept"
verdict = {"kept": kept, "reason": reason, "detail": "killed"}


class TestKept:
    kept = True

    def test_withdraw(self, record_property):
        record_property("kept", verdict)
        assert bank.withdraw(100, 30) == 70
