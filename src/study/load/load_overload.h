/* load_overload.h - whether a server answers as fast as requests come: a pure function.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_LOAD_OVERLOAD_H
#define LOAD_LOAD_OVERLOAD_H

#include <stddef.h>

/*
 * Returns the rate of answers, a second, of an overloaded server; 0: it is not shown to be one.
 * begin[i] and end[i], ns: when request i began, in ascending order, and when it was answered; they
 * are changed. work: n doubles.
 *
 * With l arrivals and m < l answers a second, n answers take l / m as long as n arrivals, and the
 * time of an answer grows by l / m - 1 for each unit of time (a fluid queue: Newell, Applications
 * of Queueing Theory, 2nd ed. 1982, chapter 2). So three things are required: the middle 80 % of
 * the answers take more than 1 + 3 / sqrt(n) times as long as those of the arrivals; 90 % of the
 * last third of the requests took longer than half of the first third; and the arrivals take twice
 * as long as the fastest answer, because until the first answers nothing is known about the queue.
 */
double load_overload(double *begin, double *end, size_t n, double *work);

#endif
