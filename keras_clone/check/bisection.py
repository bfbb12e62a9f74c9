"""Finds the first of several things by trying few of them."""


def first_that_holds(holds, count):
    """Returns the least number of 1 to `count` for which something holds.

    # Arguments
        holds: function of a number. Where it returns true, it is taken to do so for
            every greater number too.
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
