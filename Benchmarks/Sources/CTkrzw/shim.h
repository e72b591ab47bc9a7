#include <stdbool.h>
#include <stdint.h>
#include <tkrzw_langc.h>
