// Cube products are not part of this machine yet; operators that only include this get the rest.
#pragma once
#include "../kernel_operator.h"
