import type { LiveDatabase } from '../../db/live-schema.ts'
import type { Count } from './pack.ts'

type Columns = Omit<LiveDatabase['counts'], 'service' | 'minute'>

/** What a row that is not packed yet has counted. */
export function countOf({ connections, received, sent, answers }: Columns): Count {
  return [connections, received, sent, ...readAnswers(answers)]
}

/** Errors and buckets. */
export function readAnswers(json: Columns['answers']): number[] {
  // This server wrote it.
  return json === null ? [] : (JSON.parse(json) as number[])
}
