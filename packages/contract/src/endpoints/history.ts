import * as z from 'zod/mini'
import { byId } from '../fields.ts'
import {
  HistoryExportQuery,
  HistoryPage,
  HistoryQuery,
  PendingChanges,
  WholeChange,
} from '../history/history.ts'
import { deleted, type Endpoint, edit, look, nothing, watch } from './endpoint.ts'

/** What was changed, by whom. People see what is about what they may see; people and settings only administrators. */
export const history = {
  /** The newest first. */
  listHistory: {
    method: 'GET',
    path: '/api/history',
    noun: 'Change',
    ...look,
    query: HistoryQuery,
    answer: HistoryPage,
  },
  /** The next one first. */
  listPendingChanges: {
    method: 'GET',
    path: '/api/history/pending',
    noun: 'Change',
    ...look,
    answer: PendingChanges,
  },
  /** It is not taken back any more. */
  keepChange: {
    method: 'POST',
    path: '/api/history/:id/keep',
    noun: 'Change',
    ...edit,
    params: byId,
    body: nothing,
    answer: deleted,
  },
  /** `:id` is its revision. All of its records with all of their fields. */
  getChange: {
    method: 'GET',
    path: '/api/history/:id',
    noun: 'Change',
    ...look,
    params: byId,
    answer: WholeChange,
  },
  /** 409 `stale` with the fields that have changed since. */
  undoChange: {
    method: 'POST',
    path: '/api/history/:id/undo',
    noun: 'Change',
    ...edit,
    params: byId,
    body: nothing,
    answer: z.object({ revision: z.number() }),
  },
  /** For administrators its last line has the head of the chain of hashes. */
  exportHistory: {
    method: 'GET',
    path: '/api/history/export',
    noun: 'Change',
    ...watch,
    query: HistoryExportQuery,
  },
} as const satisfies Record<string, Endpoint>
