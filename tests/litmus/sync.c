// SPDX-License-Identifier: BSD-3-Clause
// Barriers, steps of collectives, events, notifications and message rings: data come before what
// announces them, and a sleeper is woken. LATE: so long the other is late that this one goes to
// sleep.
#include "cases.h"

#include "../../internal/shm/message.h"
#include "../../internal/shm/team.h"

enum { LATE = 40, MEMBERS = 9 };

struct data {
	struct shm_event event, back;
	SHM_ALIGNED long value[MEMBERS];
};
static struct data *d(void) { return litmus_data(0); }

static struct shm_team team[MEMBERS];
static int members[MEMBERS];

static void teams(void)
{
	struct shm_context *context = (struct shm_context *)(shm.base + shm.head->context_off);
	for (int i = 0; i < shm.nlocal; i++) {
		members[i] = i;
		team[i] = (struct shm_team){.context = context,
			.n = shm.nlocal,
			.me = i,
			.local = members};
	}
}

static void barrier(int me)
{
	for (long i = 1; i <= 2; i++) {
		d()->value[me] = i;
		if (me == 0)
			litmus_pause(i == 1 ? LATE : 0);
		shm_barrier(&team[me]);
		for (int other = 0; other < shm.nlocal; other++)
			litmus_expect("a store before a barrier is missing",
				d()->value[other] == i);
		shm_barrier(&team[me]);
	}
}
static void barrier_many(int me)
{
	d()->value[me] = 1;
	shm_barrier(&team[me]);
	litmus_expect("a store before a barrier is missing", d()->value[(me + 1) % MEMBERS] == 1);
}

// More steps than there are slots, so that slots are used again.
static void steps(int me)
{
	for (long i = 0; i < 2 * (long)SHM_SMALL_SLOTS; i++) {
		long mine = 10 * i + me, all[2];
		if (me == 0 && i == 3)
			litmus_pause(LATE);
		shm_allgather(&team[me], &mine, sizeof mine, all);
		litmus_expect("another step's data", all[0] == 10 * i && all[1] == 10 * i + 1);
	}
}

static void events(int me)
{
	struct shm_event *mine = me == 0 ? &d()->event : &d()->back,
			 *other = me == 0 ? &d()->back : &d()->event;
	for (long i = 1; i <= 2; i++) {
		litmus_pause(me == 0 ? LATE / 2 : 0);
		d()->value[me + 2 * i] = i;
		shm_event_add(mine, 1);
		if (shm_event_wait(other, (uint32_t)i - 1, -1, "litmus"))
			litmus_expect("data behind an event", d()->value[!me + 2 * i] == i);
		shm_barrier(&team[me]);
	}
}

static void notify(int me)
{
	if (me == 0) {
		d()->value[0] = 1;
		litmus_pause(LATE / 2);
		shm_notify(1, 0);
	} else {
		shm_notify_wait(0, 1);
		litmus_expect("data behind a notification", d()->value[0] == 1);
	}
}

// The notifier has a device raise the counter; one of the two sees both the count and the question.
static int told[2];
static void not_told(void) { told[0] = told[1] = 0; }
static void notify_device(int me)
{
	told[me] = me == 0 ? shm_notify_sent(1, 1) : shm_notify_ask(0, 1, 1);
}
static void one_told(void)
{
	litmus_expect("nobody tells the sleeper, or both do", told[0] + told[1] == 1);
}

// The raiser has a device write the count of an event; one of the two sees both the count and the
// question.
static void event_device(int me)
{
	struct shm_event *record = &d()->event;
	told[me] = me == 0 ? shm_event_sent(record, 1) : shm_event_ask(record, 1);
}

// A ring that holds two messages of one word.
static void small_ring(void)
{
	shm.head->ring_bytes = sizeof(struct shm_ring) + 2 * (sizeof(struct message_header) + 16);
}
static void messages(int me, int n, int late)
{
	for (long i = 0; i < n; i++) {
		long data = 7 + i, got = 0;
		struct shm_message m = {.from = 0, .tag = 5};
		if (me == !late)
			litmus_pause(LATE / 2);
		if (me == 0) {
			shm_send(1, 5, &data, sizeof data);
			continue;
		}
		litmus_expect("no message", shm_recv(&m, &got, sizeof got) == 0);
		litmus_expect("another message", got == 7 + i && m.nbytes == sizeof got);
	}
}
static void ring(int me) { messages(me, 2, 1); }
static void ring_full(int me) { messages(me, 5, 0); }

const struct litmus case_barrier = {"barrier", 2, teams, barrier, NULL, 3000};
const struct litmus case_barrier_many = {"barrier-many", 9, teams, barrier_many, NULL, 500};
const struct litmus case_steps = {"steps", 2, teams, steps, NULL, 500};
const struct litmus case_event = {"event", 2, teams, events, NULL, 3000};
const struct litmus case_notify = {"notify", 2, nothing, notify, NULL, 3000};
const struct litmus case_notify_device = {"notify-device", 2, not_told, notify_device, one_told,
	3000};
const struct litmus case_event_device = {"event-device", 2, not_told, event_device, one_told, 3000};
const struct litmus case_ring = {"ring", 2, small_ring, ring, NULL, 1500};
const struct litmus case_ring_full = {"ring-full", 2, small_ring, ring_full, NULL, 1000};
