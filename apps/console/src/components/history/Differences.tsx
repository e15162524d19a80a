import type { HistoryRecord } from '@postern/contract/history/history'
import { type Difference, differencesOf } from './differences.ts'
import './History.css'

/** Entries of one list that are written out. */
const MOST_ENTRIES = 20

interface Props {
  record: HistoryRecord
  /** Lines at most; the others are counted. */
  most?: number
}

/** `Backend Port: 8080 → 8081`, a line for each field. */
export function Differences({ record, most = Number.POSITIVE_INFINITY }: Props) {
  const all = differencesOf(record)
  const shown = all.slice(0, most)
  const more = all.length - shown.length
  if (record.isCut) return <p className="sub">More than fits here</p>
  return (
    <ul className="diffs">
      {shown.map((difference) => (
        <li key={difference.label}>
          <span className="label">{difference.label}</span> <Change difference={difference} />
        </li>
      ))}
      {more > 0 && <li className="sub">{more === 1 ? 'and 1 more field' : `and ${more} more fields`}</li>}
    </ul>
  )
}

function Change({ difference }: { difference: Difference }) {
  switch (difference.kind) {
    case 'text':
      return (
        <span className={difference.isSecret ? 'sub' : 'mono'}>
          <bdi>{difference.text}</bdi>
        </span>
      )
    case 'value':
      return <Values {...difference} />
    case 'list':
      return (
        <>
          <Entries words="Added" sign="+" texts={difference.added} />
          <Entries words="Removed" sign="−" texts={difference.removed} />
        </>
      )
  }
}

function Values({ from, to }: { from: string | null; to: string | null }) {
  return (
    <span className="mono">
      <del>
        <span className="sr">before: </span>
        <bdi>{from ?? 'none'}</bdi>
      </del>
      <span aria-hidden="true"> → </span>
      <ins>
        <span className="sr">, after: </span>
        <bdi>{to ?? 'none'}</bdi>
      </ins>
    </span>
  )
}

function Entries({ words, sign, texts }: { words: string; sign: string; texts: readonly string[] }) {
  if (texts.length === 0) return null
  const shown = texts.slice(0, MOST_ENTRIES)
  const more = texts.length - shown.length
  const Mark = sign === '+' ? 'ins' : 'del'
  return (
    <span className="mono entries">
      <span className="sr">{words}: </span>
      {shown.map((text) => (
        <Mark key={text}>
          <span aria-hidden="true">{sign}</span>
          <bdi>{text}</bdi>{' '}
        </Mark>
      ))}
      {more > 0 && <span className="sub">and {more} more</span>}
    </span>
  )
}
