# refused: does-not-parse by: vet
Sure! Here is a test that detects the fault:

```python
from bank import withdraw


def test_withdraw_rejects_zero():
    withdraw(100, 0)
```
