import type { Doors } from './acts.ts'
import { type Entry, filterEntries, groupEntries } from './entries.ts'
import { readTyped } from './read-typed.ts'
import { useCommands } from './use-commands.ts'
import { useFindings } from './use-findings.tsx'
import { useFound } from './use-found.ts'
import { useFoundEdges } from './use-found-edges.ts'

/** The entries for the typed text: first what is called so, then what a verb does, and pages and commands. */
export function useEntries(typed: string, doors: Doors) {
  const wanted = typed.trim()
  const reading = readTyped(typed)
  const { verb, isAll, text } = reading
  const isName = text === wanted
  const named = useFound(wanted)
  const meant = useFound(isName ? '' : text)
  const namedEdges = useFoundEdges(wanted)
  const meantEdges = useFoundEdges(isName ? '' : text)
  const findings = useFindings(doors)
  const commands = filterEntries(useCommands(doors), verb === 'open' ? text : wanted)
  const places = [...findings.named(named.found), ...findings.edges(namedEdges)]
  const all = isAll && verb === undefined ? meant.found.nodes.flatMap(findings.allOf) : []
  const acts =
    verb && !isName
      ? [...findings.acts(meant.found, verb, reading), ...findings.edgeActs(meantEdges, verb)]
      : []
  // What cannot be done is shown as it is.
  const isNothing = acts.length + places.length + commands.length + all.length === 0
  const others =
    verb === 'open' || isNothing ? [...findings.named(meant.found), ...findings.edges(meantEdges)] : []
  const offered = places.length > 0 ? findings.offered(named.found) : []
  return {
    entries: inGroups([
      ...[...places, ...offered],
      // `add node` is about no node, while `disable o` is not about the page of what is disabled.
      ...(verb === 'add' ? [...commands, ...acts] : [...acts, ...commands]),
      ...[...all, ...others],
    ]),
    /** What of the entries is to be marked. */
    text,
    isPending: named.isPending || meant.isPending,
    error: named.error ?? meant.error,
    /** The verb waits for a name. */
    isOpen: verb !== undefined && text === '',
  }
}

/** In the order in which they are shown, each once. */
function inGroups(entries: readonly Entry[]): readonly Entry[] {
  const unique = [...new Map(entries.map((entry) => [entry.id, entry])).values()]
  return groupEntries(unique).flatMap(([, members]) => members)
}
