#ifndef CROOST_SQLITE_SHIM_H
#define CROOST_SQLITE_SHIM_H
#include <sqlite3.h>
#endif
