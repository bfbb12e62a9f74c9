"""Finds the least number for which something holds, by bisection."""


def first_that_holds(holds, count):
    """Returns the least number of 1 to `count` for which something holds.

    # Arguments
        holds: function of a number. If it returns true for a number, it is assumed
            to do so for every greater one.
        count: the greatest number; 0 or more.

    # Returns
        An integer; 0 if it holds for none.
    """
    if count == 0 or not holds(count):
        return 0
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
