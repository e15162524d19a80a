import { readFile } from 'node:fs/promises'
import { DesiredState, routesSectionOf, type StateAnswer } from '@postern/contract/desired-state'
import { writeAtomic } from './atomic-write.ts'

/** The state on disk cannot be used, or the server's answer does not make a whole state. */
export class StateError extends Error {
  readonly code = 'state'
}

/** @returns the state of the last life, or undefined when there is none. @throws StateError when it is damaged. */
export async function findLastGood(path: string): Promise<DesiredState | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new StateError(`The state of the last run cannot be read: ${error.message}`)
  })
  if (text === undefined) return undefined
  try {
    return DesiredState.parse(JSON.parse(text))
  } catch (cause) {
    throw new StateError('The state of the last run is damaged; the server will be asked for a new one.', {
      cause,
    })
  }
}

/** 0600, because it holds private keys. */
export async function saveLastGood(path: string, state: DesiredState): Promise<void> {
  await writeAtomic(path, JSON.stringify(state), 0o600)
}

/**
 * The whole state that an answer describes: its own sections, and the held ones whose hash is still the same. Of a
 * section with an empty hash something could not be read: a certificate then stays as it was, a route is left out.
 * @throws StateError when a section is missing, or the answer holds one that it does not name
 */
export function mergeState(held: DesiredState | undefined, answer: StateAnswer): DesiredState {
  const { hashes, sections } = answer
  const keep = <T>(name: string, sent: T | undefined, old: T | undefined): T => {
    if (hashes[name] === undefined) throw new StateError(`The server does not name the section ${name}.`)
    if (sent !== undefined) return sent
    if (old === undefined || held?.hashes[name] !== hashes[name])
      throw new StateError(`The server left out the section ${name}.`)
    return old
  }
  const leftOut = <T>(name: string, instead: T) => (hashes[name] === '' ? instead : undefined)
  const namesOf = (pattern: RegExp) => Object.keys(hashes).filter((name) => pattern.test(name))
  const [sent, old] = [byName(sections), byName(held)]
  const stray = [...sent.routes.keys(), ...sent.certificates.keys()].find((name) => !(name in hashes))
  if (stray !== undefined) throw new StateError(`The server does not name the section ${stray}.`)
  return {
    revision: answer.revision,
    hashes,
    settings: keep('settings', sections.settings, held?.settings),
    peers: keep('peers', sections.peers, held?.peers),
    routes: namesOf(/^routes:\d+$/).flatMap((name) =>
      keep(name, sent.routes.get(name) ?? leftOut(name, []), old.routes.get(name)),
    ),
    certificates: namesOf(/^certificate:\d+$/).flatMap((name) => {
      const before = old.certificates.get(name)
      return keep(name, sent.certificates.get(name) ?? leftOut(name, before ?? []), before)
    }),
  }
}

function byName(rows: Pick<DesiredState, 'routes' | 'certificates'> | undefined) {
  return {
    routes: Map.groupBy(rows?.routes ?? [], ({ id }) => routesSectionOf(id)),
    certificates: Map.groupBy(rows?.certificates ?? [], ({ id }) => `certificate:${id}`),
  }
}
