// views.js - the table of all views, in the order of the page.
//
// SPDX-License-Identifier: Apache-2.0

import { viewAccuracy } from "./views/view_accuracy.js";
import { viewAnswer } from "./views/view_answer.js";
import { viewBatches, viewRates, viewTail } from "./views/view_batches.js";
import { viewBeside, viewOver, viewRank, viewRatios } from "./views/view_beside.js";
import { viewCounters } from "./views/view_counters.js";
import { viewDiff, viewDiffRecord } from "./views/view_calldiff.js";
import { viewCalls, viewModules } from "./views/view_calls.js";
import { viewEffects } from "./views/view_effects.js";
import { viewGeneration } from "./views/view_generation.js";
import { viewMachine } from "./views/view_machine.js";
import { viewMemory } from "./views/view_memory.js";
import { viewOps } from "./views/view_ops.js";
import { viewPitfalls } from "./views/view_pitfalls.js";
import { viewPhases } from "./views/view_phases.js";
import { viewRanks } from "./views/view_ranks.js";
import { viewRoofline } from "./views/view_roofline.js";
import { viewRuns } from "./views/view_runs.js";
import { viewTraining, viewTrend } from "./views/view_trend.js";
import { viewTreemap } from "./views/view_treemap.js";
import { viewTimeline } from "./views/view_timeline.js";
import { viewFacts, viewTables } from "./views/view_tables.js";

/** Each {id, title, match(records, page), draw(box, records, page), many}: drawn for each record that
 * it matches, or, with `many`, once for all records of a page that has several. */
export const views = [
	viewAnswer, viewPitfalls, viewRanks, viewEffects, viewGeneration, viewBeside, viewRank, viewRatios, viewOver, viewTrend, viewBatches, viewRates, viewTail, viewTraining,
	viewTimeline, viewOps, viewRoofline, viewTreemap, viewRuns, viewPhases, viewAccuracy, viewMachine, viewCounters, viewDiff,
	viewDiffRecord, viewCalls, viewModules, viewMemory, viewTables, viewFacts,
];
