import { createHash } from 'node:crypto'

/**
 * Rows as JSON texts in named sections, each row with a mark by which views choose. Only sections whose rows changed are
 * hashed again, for each view.
 */
export interface TextSections {
  set(id: number, text: string, mark: Mark): void
  remove(id: number): void
  ids(): Iterable<number>
  size(): number
  /** What of the rows a view shows. The one of a key stays the same until it is forgotten. */
  view(key: string, shows: (mark: Mark) => boolean): SectionView
  /** Only the views of these keys are still needed. */
  keepViews(keys: ReadonlySet<string>): void
}

/** To which edges a row may go. */
export interface Mark {
  /** The edges of its domain, as a list of ids in JSON; null or absent: all. */
  edges?: string | null
  /** `local`: of the machine beside the server. `console`: the console's own. */
  of?: 'local' | 'console'
}

/** What some edges get of the rows. */
export interface SectionView {
  /** By name; a section without rows does not exist. */
  hashes(): ReadonlyMap<string, string>
  /** The ids of the rows of a section, in order. */
  idsOf(name: string): number[]
  /** The rows of a section as a JSON list without its brackets. */
  textOf(name: string): string
}

interface Row {
  text: string
  mark: Mark
}

export function createTextSections(nameOf: (id: number) => string): TextSections {
  const rows = new Map<number, Row>()
  const members = new Map<string, Set<number>>()
  const views = new Map<string, SectionView & { stale: Set<string> }>()
  const spoil = (name: string) => {
    for (const { stale } of views.values()) stale.add(name)
  }
  return {
    set(id, text, mark) {
      const before = rows.get(id)
      if (before?.text === text && isSameMark(before.mark, mark)) return
      const name = nameOf(id)
      rows.set(id, { text, mark })
      members.set(name, (members.get(name) ?? new Set()).add(id))
      spoil(name)
    },
    remove(id) {
      if (!rows.delete(id)) return
      const name = nameOf(id)
      members.get(name)?.delete(id)
      spoil(name)
    },
    ids: () => rows.keys(),
    size: () => rows.size,
    view(key, shows) {
      const view = views.get(key) ?? createView(rows, members, shows)
      views.set(key, view)
      return view
    },
    keepViews(keys) {
      for (const key of views.keys()) if (!keys.has(key)) views.delete(key)
    },
  }
}

const isSameMark = (a: Mark, b: Mark) => (a.edges ?? null) === (b.edges ?? null) && a.of === b.of

function createView(
  rows: ReadonlyMap<number, Row>,
  members: ReadonlyMap<string, ReadonlySet<number>>,
  shows: (mark: Mark) => boolean,
): SectionView & { stale: Set<string> } {
  const hashes = new Map<string, string>()
  const stale = new Set(members.keys())
  const isShown = (id: number) => {
    const row = rows.get(id)
    return row !== undefined && shows(row.mark)
  }
  // Always in one order, so that the same rows have the same hash whatever their history.
  const idsOf = (name: string) => [...(members.get(name) ?? [])].filter(isShown).sort((a, b) => a - b)
  const textOf = (name: string) =>
    idsOf(name)
      .map((id) => rows.get(id)?.text)
      .join(',')
  return {
    stale,
    hashes() {
      for (const name of stale) {
        const text = textOf(name)
        if (text === '') hashes.delete(name)
        else hashes.set(name, hashOf(text))
      }
      stale.clear()
      return hashes
    },
    idsOf,
    textOf,
  }
}

/** 128 bits: the edge sends back the hashes of all its certificates with each request. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
