// SPDX-License-Identifier: BSD-3-Clause
// NAS MG (NPB report, section "MG"): V-cycles of multigrid for Poisson's equation on a periodic
// cube, which is divided among a grid of ranks in three dimensions. What its versions share, and
// what each of them brings: how halos are exchanged.
//
// A grid of level k has 2^k points along each axis. A rank keeps its part with a halo one point
// wide around it, axis 0 fastest: interior points are 1..n along an axis, 0 and n+1 are halo.
#ifndef MG_H
#define MG_H

#include "app.h"

enum { AXES = 3, LEVELS_MAX = 10, CHARGES = 20 };

struct grid {
	int n[AXES]; // interior points of a rank
	double *u, *r;
};

struct mg {
	const struct mg_class *class;
	int p[AXES], at[AXES];        // the grid of ranks, and this rank's place in it
	int beside[AXES][2];          // ranks before and behind this one, around the torus
	int levels, coarsest;         // the finest level and the coarsest that is divided
	// levels from `coarsest` down to 1, undivided at every rank; NULL if that is level 1
	struct mg *coarse;
	struct grid grid[LEVELS_MAX]; // by level
	double *v;                    // right hand side on the finest level
	// where each rank's u and r are (ARMCI_Malloc); alike at all ranks
	void **all;
	const struct way *way;        // of the version that runs
	double norm;                  // of the last residual
	// global points of the right hand side: the first half +1, the second -1
	long charge[CHARGES];
};

struct mg_class {
	char name;
	int levels, iterations;
	double smoother[3]; // coefficients of psinv: centre, faces, edges
	double norm;        // official
};

// How a version communicates.
struct way {
	// Fills both halos of x across an axis that is divided. Across axis 1 the halos of axis 0
	// go along, across axis 2 those of both: so edges and corners arrive, too.
	void (*swap)(const struct mg *m, double *x, const int *n, int axis);
	void (*sum)(double *x, int count); // over all ranks, element by element
	void (*barrier)(void);             // and all halos have arrived
};
extern const struct way way_mpi, way_armci;
void way_mpi_start(const struct mg *m); // buffers
void way_armci_start(const struct mg *m);
void way_mpi_end(void);
void way_armci_end(void);

static inline size_t row(const int *n) { return (size_t)n[0] + 2; }
static inline size_t plane(const int *n) { return row(n) * ((size_t)n[1] + 2); }
static inline size_t points(const int *n) { return plane(n) * ((size_t)n[2] + 2); }

// Kernels (kernels.c): they compute the interior; halos of what they read must be valid. n: of the
// output. r = v - A u; v may be r
void resid(const double *u, const double *v, double *r, const int *n);
void psinv(const double *r, double *u, const int *n, const double *c);        // u += S r
void rprj3(const double *fine, const int *nf, double *coarse, const int *n);  // coarse = P fine
// fine += Q coarse, halos as well
void interp(const double *coarse, const int *nc, double *fine, const int *n);
double squares(const double *r, const int *n);                                // sum of r^2

// Faces (faces.c): the points of a plane across an axis that swap sends, halos of lower axes
// included.
size_t face(const int *n, int axis); // how many points
// The face in plane i, to and from contiguous memory.
void pack(const double *x, const int *n, int axis, int i, double *out);
void unpack(double *x, const int *n, int axis, int i, const double *in);
// Fills both halos across an axis that one rank has.
void wrap(double *x, const int *n, int axis);

// From the first residual to the last norm (cycle.c).
void solve(struct mg *m, int iterations);

// The right hand side (charges.c).
void find_charges(struct mg *m);
void place_charges(const struct mg *m);

#endif
