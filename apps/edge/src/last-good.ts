import { readFile } from 'node:fs/promises'
import { DesiredState, type StateAnswer } from '@postern/contract/desired-state'
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
 * The whole state that an answer describes: its own sections, and the held ones whose hash is still the same.
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
  const sent = new Map(sections.certificates.map((certificate) => [certificate.id, certificate]))
  const old = new Map(held?.certificates.map((certificate) => [certificate.id, certificate]))
  const ids = Object.keys(hashes).flatMap((name) => /^certificate:(\d+)$/.exec(name)?.[1] ?? [])
  return {
    revision: answer.revision,
    hashes,
    settings: keep('settings', sections.settings, held?.settings),
    peers: keep('peers', sections.peers, held?.peers),
    routes: keep('routes', sections.routes, held?.routes),
    certificates: ids.map((id) => keep(`certificate:${id}`, sent.get(Number(id)), old.get(Number(id)))),
  }
}
