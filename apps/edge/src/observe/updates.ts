import { readFileSync, statSync } from 'node:fs'
import { type WaitingUpdate, WaitingUpdateList } from '@postern/contract/edge/edge-messages'
import { WAITING_UPDATES } from '@postern/host/haproxy-place'

export interface UpdatePlaces {
  /** Written by the last check, which is a separate program. */
  file: string
  /** Where dpkg keeps a list of files for each package; a new one with each installation. */
  dpkgDir: string
}

export const UPDATE_PLACES: UpdatePlaces = { file: WAITING_UPDATES, dpkgDir: '/var/lib/dpkg/info' }

/**
 * The security updates that wait on this machine, except those installed since the last check.
 * @returns null before the first check
 */
export function readUpdates({ file, dpkgDir }: UpdatePlaces): WaitingUpdate[] | null {
  try {
    const { mtimeMs } = statSync(file)
    const updates = WaitingUpdateList.parse(JSON.parse(readFileSync(file, 'utf8')))
    return updates.filter(({ name }) => installedAt(dpkgDir, name) <= mtimeMs)
  } catch {
    // Missing, or written by another version of the check.
    return null
  }
}

function installedAt(dpkgDir: string, name: string): number {
  return statSync(`${dpkgDir}/${name}.list`, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
