def fill(barrels, each):
    return barrels * each
