// Calls a second of etcd's own client for Go: what scripts/shared-speed compares Roost's with.
//
//	etcd-loop http://127.0.0.1:2379 SECONDS
//
// Keys have 16 characters, values 100 bytes; one and sixteen callers, each of which makes one call after another.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/clientv3"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func key(number int) string { return fmt.Sprintf("loop/k%015d", number%1000) }

func rate(callers int, seconds float64, call func(number int) error) int {
	for number := 0; number < 1000; number++ {
		fail(call(number))
	}
	var count int64
	begin := time.Now()
	end := begin.Add(time.Duration(seconds * float64(time.Second)))
	var group sync.WaitGroup
	for caller := 0; caller < callers; caller++ {
		group.Add(1)
		go func(caller int) {
			defer group.Done()
			for number := 0; time.Now().Before(end); number++ {
				fail(call(caller*61 + number))
				atomic.AddInt64(&count, 1)
			}
		}(caller)
	}
	group.Wait()
	return int(float64(count) / time.Since(begin).Seconds())
}

// The transaction that a set of Roost's is: it writes a mark too, which has a lease and which it is guarded by, so
// that an outcome whose answer was lost can be found out.
func sameAsRoost(client *clientv3.Client, value string) func(int) error {
	type mark struct {
		key      string
		revision int64
	}
	lease, err := client.Grant(context.Background(), 1000)
	fail(err)
	marks := make(chan mark, 64)
	for number := 0; number < 64; number++ {
		marks <- mark{key: fmt.Sprintf("mark/%d/%d", lease.ID, number)}
	}
	var commits int64
	return func(number int) error {
		mark := <-marks
		answer, err := client.Txn(context.Background()).
			If(clientv3.Compare(clientv3.ModRevision(mark.key), "=", mark.revision)).
			Then(clientv3.OpPut(key(number), value),
				clientv3.OpPut(mark.key, fmt.Sprint(atomic.AddInt64(&commits, 1)), clientv3.WithLease(lease.ID))).
			Commit()
		if err != nil {
			return err
		}
		if !answer.Succeeded {
			return fmt.Errorf("%s is not what it was", mark.key)
		}
		mark.revision = answer.Header.Revision
		marks <- mark
		return nil
	}
}

func main() {
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	fail(err)
	client, err := clientv3.New(clientv3.Config{
		Endpoints: strings.Split(os.Args[1], ","), DialTimeout: 5 * time.Second,
	})
	fail(err)
	defer client.Close()
	value := strings.Repeat("a", 100)
	for _, callers := range []int{1, 16} {
		sets := rate(callers, seconds, func(number int) error {
			_, err := client.Put(context.Background(), key(number), value)
			return err
		})
		fmt.Printf("set, %d at a time: %d a second\n", callers, sets)
		same := rate(callers, seconds, sameAsRoost(client, value))
		fmt.Printf("the same transaction, %d at a time: %d a second\n", callers, same)
		loads := rate(callers, seconds, func(number int) error {
			answer, err := client.Get(context.Background(), key(number))
			if err == nil && len(answer.Kvs) != 1 {
				return fmt.Errorf("no value for %s", key(number))
			}
			return err
		})
		fmt.Printf("load, %d at a time: %d a second\n", callers, loads)
	}
}
