// views.js - the table of all views, in the order in which they stand on the page.
//
// SPDX-License-Identifier: Apache-2.0

import { viewAccuracy } from "./view_accuracy.js";
import { viewAnswer } from "./view_answer.js";
import { viewBatches, viewRates, viewTail } from "./view_batches.js";
import { viewBeside, viewOver, viewRank, viewRatios } from "./view_beside.js";
import { viewCounters } from "./view_counters.js";
import { viewDiff, viewDiffRecord } from "./view_calldiff.js";
import { viewCalls, viewModules } from "./view_calls.js";
import { viewMachine } from "./view_machine.js";
import { viewMemory } from "./view_memory.js";
import { viewOps } from "./view_ops.js";
import { viewPitfalls } from "./view_pitfalls.js";
import { viewPhases } from "./view_phases.js";
import { viewRoofline } from "./view_roofline.js";
import { viewRuns } from "./view_runs.js";
import { viewTraining, viewTrend } from "./view_trend.js";
import { viewTreemap } from "./view_treemap.js";
import { viewTimeline } from "./view_timeline.js";
import { viewFacts, viewTables } from "./view_tables.js";

/** Each {id, title, match(records, page), draw(box, records, page), many}: drawn for each record that
 * it matches, or, with `many`, once for all records of a page that has several. */
export const views = [
	viewAnswer, viewPitfalls, viewBeside, viewRank, viewRatios, viewOver, viewTrend, viewBatches, viewRates, viewTail, viewTraining,
	viewTimeline, viewOps, viewRoofline, viewTreemap, viewRuns, viewPhases, viewAccuracy, viewMachine, viewCounters, viewDiff,
	viewDiffRecord, viewCalls, viewModules, viewMemory, viewTables, viewFacts,
];
