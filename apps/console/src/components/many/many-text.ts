/** What the rows of a list are called, one and more of them. */
export interface Noun {
  one: string
  more: string
}

export const NOUNS = {
  service: { one: 'service', more: 'services' },
  node: { one: 'node', more: 'nodes' },
  domain: { one: 'domain', more: 'domains' },
  token: { one: 'access token', more: 'access tokens' },
} as const satisfies Record<string, Noun>

const number = new Intl.NumberFormat('en-US')

/** `1 service`, `1,200 services`. */
export function countText(count: number, { one, more }: Noun): string {
  return `${number.format(count)} ${count === 1 ? one : more}`
}

export const progressText = (doing: string, handled: number, total: number): string =>
  `${doing} ${number.format(handled)} of ${number.format(total)}…`

interface Counts {
  done: number
  unchanged: number
  refused: number
}

/** What a toast says in the end, like `9 services disabled. 2 already were. 1 could not be.` */
export function outcomeText({ done, unchanged, refused }: Counts, noun: Noun, verb: string): string {
  const first = done > 0 || (unchanged === 0 && refused === 0) ? `${countText(done, noun)} ${verb}.` : ''
  const already =
    unchanged > 0 &&
    (first ? `${number.format(unchanged)} already ${was(unchanged)}.` : alreadyText(unchanged, noun, verb))
  const not =
    refused > 0 &&
    (first || already
      ? `${number.format(refused)} could not be.`
      : `${countText(refused, noun)} could not be ${verb}.`)
  return [first, already, not].filter(Boolean).join(' ')
}

const was = (count: number) => (count === 1 ? 'was' : 'were')

function alreadyText(count: number, noun: Noun, verb: string): string {
  return `${countText(count, noun)} already ${was(count)} ${verb}.`
}
