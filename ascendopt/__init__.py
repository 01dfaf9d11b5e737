"""ascendopt: makes AscendC operators faster where they live.

In the repository the packages `bot`, `ci`, `experience` and `rules` lie beside this one; in a wheel
they lie inside it, so that an installation takes one name (hatch_build.py).
"""
