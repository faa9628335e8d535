"""How likely a play is to stand: to end the attack, so that its author leads the next one (V12).

Measured in games that ``advised`` played against itself before its weights were tuned (``experiments/011-advised``): in
a situation, which is how many opponents race and how many cards they hold, the share of plays of each value that nobody
beat.
"""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import inlined
from velonimo_sim.bits import integer
from velonimo_sim.velonimo.rules import MAX_PLAYERS
from velonimo_sim.velonimo.view import View

# One line a situation: 1 opponent with 1, 2-3, 4-5, 6-7, 8-9, 10 and more cards, then 2, 3 and 4 opponents likewise. In
# a line the percentages of the values 0-7, 10-17 and 20-27, in the second table 30-37, 40-47 and 50-57; whatever is
# worth more always stands.
_PERCENT_BELOW_30 = """
  0   2  18  35  49  62  73  84  84  84  84  84  84  84  84  84  84  84  84  84  84  84  84  84
  0   0   0   2   6  11  17  24  24  24  24  24  24  24  24  24  24  34  34  44  50  54  61  61
  0   0   0   0   0   0   1   2   2   2   2   2   2   2   2   2   2   4   4   9  15  20  30  31
  0   0   0   0   0   0   0   1   1   1   1   1   1   1   1   1   1   1   2   4   7   8  16  18
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   2   4   6  12  17
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1   4  10  16
  0   0   4  13  30  46  61  75  75  75  75  75  75  77  77  77  77  86  86  86  86  87  87  87
  0   0   0   0   1   3   6  10  10  10  10  10  10  10  10  10  10  11  25  34  43  52  55  59
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1   1   3   6  11  16  20
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1   2   4   9  13
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1   2   6  12
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1   4   8  17
  0   0   1   4  13  29  43  67  67  67  67  67  67  68  68  68  68  79  79  79  79  81  81  82
  0   0   0   0   0   0   1   3   3   3   3   3   3   3   3   3   3   3  10  18  25  36  43  48
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1   2   5   8  12
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1   3   6
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1   3
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1   3
  0   0   0   0   9  20  39  56  56  56  56  56  56  56  56  56  56  56  56  65  73  76  76  76
  0   0   0   0   0   0   0   1   1   1   1   1   1   1   1   1   1   1   3   7  12  20  27  34
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1   3   5
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   1
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
  0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
"""
_PERCENT_FROM_30 = """
 84  84  84  84  84  84  84  84  84  84  84  84  84  91  91  91 100 100 100 100 100 100 100 100
 61  64  64  64  65  71  71  71  79  79  79  79  79  88  88  88 100 100 100 100 100 100 100 100
 31  35  35  36  38  50  50  51  67  67  67  67  67  83  83  83 100 100 100 100 100 100 100 100
 18  26  26  26  30  47  47  47  65  65  65  65  65  79  79  79  98  99  99  99  99  99 100 100
 17  21  21  28  36  54  55  57  69  76  76  76  76  80  80  80  97  99  99  99  99  99  99  99
 18  25  36  40  47  61  61  61  73  86  86  86  86  86  86  86  97  99  99  99  99  99  99  99
 87  87  87  87  87  89  89  89  95  95  95  95  95  98  98  98 100 100 100 100 100 100 100 100
 61  61  63  63  63  67  67  67  75  75  75  75  75  87  87  87 100 100 100 100 100 100 100 100
 20  20  25  27  27  36  36  38  51  51  51  51  51  74  74  74  99  99  99  99  99 100 100 100
 13  22  24  29  30  42  42  42  57  57  57  57  57  75  75  75  97  97  97  98  98  99  99 100
 14  34  34  43  45  61  61  61  73  73  73  73  73  85  85  85  96  96  96  97  97  98  98 100
 26  62  62  62  62  73  73  73  90  91  91  91  91  94  94  94  99  99  99  99  99 100 100 100
 86  86  86  87  90  90  90  90  98  98  98  98  99  99  99  99 100 100 100 100 100 100 100 100
 51  51  55  58  59  64  64  64  74  74  74  74  74  86  86  86 100 100 100 100 100 100 100 100
 12  12  18  21  24  28  29  30  41  41  41  41  41  66  66  66  99  99  99  99  99 100 100 100
  6   9  14  20  23  33  33  33  48  48  48  48  48  69  69  69  97  97  97  97  98  98  99  99
  3   5  12  22  32  56  56  56  70  70  70  70  70  80  80  80  96  96  96  97  97  98  99 100
 11  32  32  32  39  66  67  69  87  91  91  91  91  92  92  92  98  99  99  99  99  99  99  99
 79  79  79  86  86  89  89  95  95  95  95  98  98  98  98 100 100 100 100 100 100 100 100 100
 37  37  41  44  46  56  56  58  67  67  67  67  67  84  84  84 100 100 100 100 100 100 100 100
  5   5  10  12  14  19  20  22  30  30  30  30  30  54  54  54  99  99  99  99  99 100 100 100
  1   2   5   9  12  23  23  23  40  40  40  40  40  62  62  62  96  96  97  97  97  98  99 100
  0   0   2   4   7  27  35  43  64  64  64  64  64  78  78  78  96  96  96  96  97  98  99  99
  3  21  21  21  21  53  53  59  80  88  88  88  88  91  91  91  98  99  99  99  99  99  99  99
"""

SIZES = 6
"""Number of hand sizes that a situation tells apart."""
SITUATIONS = SIZES * (MAX_PLAYERS - 1)
"""Number of situations."""


def _stand() -> NDArray[np.int16]:
    table = np.full((SITUATIONS, 100), 1024, np.int16)
    for first, percents in ((0, _PERCENT_BELOW_30), (30, _PERCENT_FROM_30)):
        for situation, line in enumerate(percents.strip().split("\n")):
            for i, percent in enumerate(line.split()):
                table[situation, first + 10 * (i // 8) + i % 8] = round(10.24 * int(percent))
    return table


STAND = _stand()
"""[situation, value]: chance of a play of that value to stand, in 1024ths."""


@inlined
def situation_of(view: View) -> int:
    """Return the situation of the player of a view: by the number of his opponents and their cards on average."""
    opponents, cards = 0, 0
    for seat in range(integer(view["players"])):
        if seat != view["seat"] and view["sizes"][seat] > 0:
            opponents += 1
            cards += integer(view["sizes"][seat])
    if opponents == 0:
        return 0
    return SIZES * (opponents - 1) + min(SIZES - 1, (cards + opponents - 1) // opponents // 2)
