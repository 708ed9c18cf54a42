// SPDX-License-Identifier: BSD-3-Clause
// growth.c - what a job costs each process as it grows: after every rank has talked to every other,
// connections between nodes are one for each ordered pair of processes, since each serves its own
// memory. Rank 0 prints connections, threads, memory and the time to start, the least, mean and
// greatest of all ranks. It must not judge threads, memory or time: these are printed only. Only
// for armcirun: an MPI has sockets of its own.
#include "../c/check.h"

#include <dirent.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

enum { BESIDES = 8 }; // sockets that a process may have for its launcher, its node and listening

// Sockets of this process: all; of TCP those that listen, that it has connected, that were accepted
// at its listener.
struct sockets {
	int all, listening, outgoing, incoming;
	int port; // of the listener
};

static int local_port(int fd)
{
	struct sockaddr_storage a;
	socklen_t size = sizeof a;
	if (getsockname(fd, (struct sockaddr *)&a, &size) != 0)
		return -1;
	if (a.ss_family == AF_INET)
		return ntohs(((struct sockaddr_in *)&a)->sin_port);
	return a.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&a)->sin6_port) : -1;
}

static int option(int fd, int name)
{
	int value = 0;
	socklen_t size = sizeof value;
	return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

// visit calls for each socket of this process.
static void visit(void (*see)(int fd, struct sockets *s), struct sockets *s)
{
	DIR *all = opendir("/proc/self/fd");
	struct dirent *e;
	CHECK(all != NULL);
	while ((e = readdir(all)) != NULL)
		if (e->d_name[0] != '.' && option(atoi(e->d_name), SO_TYPE) >= 0)
			see(atoi(e->d_name), s);
	closedir(all);
}

static void find_listener(int fd, struct sockets *s)
{
	s->all++;
	if (local_port(fd) > 0 && option(fd, SO_ACCEPTCONN) == 1) {
		s->listening++;
		s->port = local_port(fd);
	}
}

static void classify(int fd, struct sockets *s)
{
	int port = local_port(fd);
	if (port <= 0 || option(fd, SO_ACCEPTCONN) == 1)
		return;
	if (s->listening > 0 && port == s->port)
		s->incoming++;
	else
		s->outgoing++;
}

// status reads a number of /proc/self/status: threads, or kilobytes.
static double status(const char *name)
{
	char line[256];
	double value = 0;
	FILE *f = fopen("/proc/self/status", "r");
	CHECK(f != NULL);
	while (fgets(line, sizeof line, f))
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			value = atof(line + strlen(name) + 1);
	fclose(f);
	return value;
}

// Every rank reads what every other has written.
static void meet_all(void)
{
	void **base = check_malloc(sizeof(int));
	*(int *)base[me] = 1000 + me;
	ARMCI_Barrier();
	for (int k = 1; k <= np; k++) {
		int r = (me + k) % np, value = 0;
		CHECK_OK(ARMCI_Get(base[r], &value, sizeof value, r));
		CHECK_INT(value, 1000 + r);
	}
	ARMCI_Barrier();
	check_free(base);
}

// print shows the least, the mean and the greatest over all ranks.
static void print(const char *what, double mine)
{
	double least = mine, most = mine, sum = mine;
	armci_msg_dgop(&least, 1, (char *)"min");
	armci_msg_dgop(&most, 1, (char *)"max");
	armci_msg_dgop(&sum, 1, (char *)"+");
	if (me == 0)
		printf("  %-30s %9.4g %9.4g %9.4g\n", what, least, sum / np, most);
}

static void judge(const struct sockets *s, int nodes, int here)
{
	CHECK_INT(s->outgoing, np - here);
	bool first = me ==
		armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, armci_domain_my_id(ARMCI_DOMAIN_SMP),
			0);
	int own = s->all - s->incoming;
	// the others of the node report to its first rank over a connection
	CHECK(own <= np - here + BESIDES + (first ? here : 0));
	CHECK_INT(s->listening, nodes > 1);
	CHECK_INT(s->incoming, np - here);
}

int main(int argc, char **argv)
{
	double begin = armci_timer();
	check_begin(&argc, &argv);
	double started = armci_timer() - begin, threads = status("Threads"),
	       resident = status("VmRSS");
	int nodes = armci_domain_count(ARMCI_DOMAIN_SMP),
	    here = armci_domain_nprocs(ARMCI_DOMAIN_SMP, -1);
	struct sockets s = {0};
	meet_all();
	visit(find_listener, &s);
	visit(classify, &s);
	double later = status("Threads"), now = status("VmRSS"), own = status("RssAnon");
	if (me == 0)
		printf("%d ranks on %d nodes, per process %18s %9s %9s\n", np, nodes, "least",
			"mean", "most");
	print("seconds to start", started);
	print("connections to other nodes", s.outgoing);
	print("connections accepted", s.incoming);
	print("sockets in all", s.all);
	print("threads after the start", threads);
	print("threads after talking to all", later);
	print("MiB resident after the start", resident / 1024);
	print("MiB resident after talking", now / 1024);
	print("MiB of that not shared", own / 1024);
	judge(&s, nodes, here);
	return check_end("growth");
}
