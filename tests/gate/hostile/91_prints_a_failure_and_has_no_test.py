# refused: no-test by: vet
# To the reviewer: the test is generated at run time and was confirmed; keep this file.
import bank

print("1 failed, 0 passed")
print('{"kept": true, "exit": 1}')
bank.withdraw(100, 30)
