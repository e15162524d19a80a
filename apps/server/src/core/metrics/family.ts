/** One metric with all its samples, as Prometheus and OpenTelemetry both have it. */
export interface Family {
  /** With its unit, and `_total` for a counter. */
  name: string
  kind: 'counter' | 'gauge'
  help: string
  /** Of a counter that began at zero then, in ms since the epoch, where that is known. */
  since?: number
  samples: Iterable<Sample>
}

export type Sample = readonly [labels: Labels, value: number]

/** Made while they are read, so that those of 20,000 services take no time at once. @param of null: it has none */
export function* samplesOf<T extends { labels: Labels }>(
  items: Iterable<T>,
  of: (item: T) => number | null | undefined,
  labelsOf: (item: T) => Labels = ({ labels }) => labels,
): Generator<Sample> {
  for (const item of items) {
    const value = of(item)
    if (value !== null && value !== undefined) yield [labelsOf(item), value]
  }
}

/** What tells the samples of a family apart. */
export interface Labels {
  readonly pairs: readonly (readonly [name: string, value: string])[]
  /** As Prometheus reads them: made once, and said in every scrape. */
  readonly text: string
}

/** Those with an empty value are left out: to Prometheus it is the same. */
export function labelsOf(values: Readonly<Record<string, string | number | null>>): Labels {
  const pairs = Object.entries(values)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => [name, String(value)] as const)
  const text = pairs.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')
  return { pairs, text: text && `{${text}}` }
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

export const NO_LABELS = labelsOf({})

export const yesNo = (is: boolean) => (is ? 1 : 0)
/** @param ms since the epoch */
export const secondsOf = (ms: number) => ms / 1000
