import { Fragment } from 'react'
import { splitMatches } from '../../util/matches.ts'

/** A text with the search matches marked. */
export function Marked({ text, match }: { text: string; match: string }) {
  return splitMatches(text, match).map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
      <mark key={index}>{part}</mark>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
      <Fragment key={index}>{part}</Fragment>
    ),
  )
}
