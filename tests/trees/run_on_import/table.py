def doubled(numbers):
    return [number * 2 for number in numbers]


TABLE = doubled([1, 2])
