import { createHash } from 'node:crypto'

/** A section of the state as it is sent, and the mark of this content. */
export interface Section {
  json: string
  hash: string
}

/** Rows as JSON texts in named sections; only sections whose rows changed are put together anew. */
export interface TextSections {
  set(id: number, text: string): void
  remove(id: number): void
  ids(): Iterable<number>
  size(): number
  /** Each is a list without its brackets; one without rows is not there. */
  sections(): ReadonlyMap<string, Section>
}

export function createTextSections(nameOf: (id: number) => string): TextSections {
  const texts = new Map<number, string>()
  const members = new Map<string, Set<number>>()
  const sections = new Map<string, Section>()
  const stale = new Set<string>()
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
    sections() {
      for (const name of stale) {
        // Always in one order, so that the same rows have the same hash however they came to be.
        const ids = [...(members.get(name) ?? [])].sort((a, b) => a - b)
        if (ids.length > 0) sections.set(name, sectionOf(ids.map((id) => texts.get(id)).join(',')))
        else sections.delete(name)
      }
      stale.clear()
      return sections
    },
  }
}

export function sectionOf(json: string): Section {
  return { json, hash: hashOf(json) }
}

/** 128 bits: the edge sends back the hashes of all its certificates with each request. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
