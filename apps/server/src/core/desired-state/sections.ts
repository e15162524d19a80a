import { createHash } from 'node:crypto'

/** Rows as JSON texts in named sections; only sections whose rows changed are hashed again. */
export interface TextSections {
  set(id: number, text: string): void
  remove(id: number): void
  ids(): Iterable<number>
  size(): number
  /** By name; a section without rows does not exist. */
  hashes(): ReadonlyMap<string, string>
  /** The ids of the rows of a section, in order. */
  idsOf(name: string): number[]
  /** The rows of a section as a JSON list without its brackets. */
  textOf(name: string): string
}

export function createTextSections(nameOf: (id: number) => string): TextSections {
  const texts = new Map<number, string>()
  const members = new Map<string, Set<number>>()
  const hashes = new Map<string, string>()
  const stale = new Set<string>()
  // Always in one order, so that the same rows have the same hash whatever their history.
  const idsOf = (name: string) => [...(members.get(name) ?? [])].sort((a, b) => a - b)
  const textOf = (name: string) =>
    idsOf(name)
      .map((id) => texts.get(id))
      .join(',')
  return {
    set(id, text) {
      if (texts.get(id) === text) return
      const name = nameOf(id)
      texts.set(id, text)
      members.set(name, (members.get(name) ?? new Set()).add(id))
      stale.add(name)
    },
    remove(id) {
      if (!texts.delete(id)) return
      const name = nameOf(id)
      members.get(name)?.delete(id)
      stale.add(name)
    },
    ids: () => texts.keys(),
    size: () => texts.size,
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
