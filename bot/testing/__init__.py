"""Tests of a forge to inherit, for whoever writes one (docs/adding-a-forge.md).

Nothing else of `bot` imports this package, which needs pytest.
"""

import pytest

pytest.register_assert_rewrite("bot.testing.forge")
