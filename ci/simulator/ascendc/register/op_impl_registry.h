// Host declarations that a shared tiling header includes; the kernel uses none of them.
#pragma once
