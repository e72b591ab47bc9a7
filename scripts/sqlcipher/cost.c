// The workload of `encryption-cost` over SQLite, or over SQLCipher where it is built with -DSQLCIPHER: puts of
// 100 bytes, each a transaction of its own in WAL mode with synchronous NORMAL, then reads after an opening, twice.
//
//     cost DIRECTORY KEYS
//
// Prints three figures, in nanoseconds each: put, first read, read again.

#ifdef SQLCIPHER
#define SQLITE_HAS_CODEC 1
#include <sqlcipher/sqlite3.h>
#else
#include <sqlite3.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static sqlite3 *database;

static void check(int result, int wanted) {
    if (result == wanted) return;
    fprintf(stderr, "cost: %s\n", sqlite3_errmsg(database));
    exit(1);
}

static void run(const char *statement) {
    check(sqlite3_exec(database, statement, NULL, NULL, NULL), SQLITE_OK);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void open_at(const char *path) {
    check(sqlite3_open(path, &database), SQLITE_OK);
#ifdef SQLCIPHER
    // A raw key: no passphrase is stretched.
    run("PRAGMA key = \"x'6bd1f0a9327c54e88a1f0c93be6d27514407c2d9e5f16a8b3c9d0e7f21a4b586'\"");
#endif
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = NORMAL");
    run("PRAGMA cache_size = -65536");
}

// Half of it random, half repeated, as in `encryption-cost`.
static void make_value(int number, uint8_t *value) {
    uint64_t random = (uint64_t)number * 0x9e3779b97f4a7c15u;
    for (int index = 0; index < 100; index++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        value[index] = index < 50 ? (uint8_t)(random >> 56) : 7;
    }
}

static int make_key(int number, char *key) { return sprintf(key, "key %d", 100000000 + number); }

static double put_all(int count) {
    sqlite3_stmt *put;
    char key[32];
    uint8_t value[100];
    run("CREATE TABLE d (k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID");
    check(sqlite3_prepare_v2(database, "REPLACE INTO d VALUES (?, ?)", -1, &put, NULL), SQLITE_OK);
    double begin = now();
    for (int number = 0; number < count; number++) {
        make_value(number, value);
        sqlite3_bind_text(put, 1, key, make_key(number, key), SQLITE_STATIC);
        sqlite3_bind_blob(put, 2, value, sizeof value, SQLITE_STATIC);
        check(sqlite3_step(put), SQLITE_DONE);
        sqlite3_reset(put);
    }
    double took = now() - begin;
    sqlite3_finalize(put);
    return took / count;
}

static double read_fifth(int count) {
    sqlite3_stmt *get;
    char key[32];
    int reads = count / 5;
    check(sqlite3_prepare_v2(database, "SELECT v FROM d WHERE k = ?", -1, &get, NULL), SQLITE_OK);
    double begin = now();
    for (int index = 0; index < reads; index++) {
        int number = (int)((int64_t)index * 7919 % count);
        sqlite3_bind_text(get, 1, key, make_key(number, key), SQLITE_STATIC);
        check(sqlite3_step(get), SQLITE_ROW);
        if (sqlite3_column_bytes(get, 0) != 100) {
            fprintf(stderr, "cost: a value is missing\n");
            exit(1);
        }
        sqlite3_reset(get);
    }
    double took = now() - begin;
    sqlite3_finalize(get);
    return took / reads;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    char path[4096];
    int count = atoi(argv[2]);
    snprintf(path, sizeof path, "%s/cost.sqlite", argv[1]);
    open_at(path);
    double put = put_all(count);
    check(sqlite3_close(database), SQLITE_OK);
    open_at(path);
    double first = read_fifth(count);
    double again = read_fifth(count);
    check(sqlite3_close(database), SQLITE_OK);
    printf("%.0f %.0f %.0f\n", put, first, again);
    return 0;
}
