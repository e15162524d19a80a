import { readFileSync, readlinkSync } from 'node:fs'
import {
  compareVersions,
  HAPROXY_BIN,
  LATEST_HAPROXY,
  OLDEST_HAPROXY,
  parseHaproxyVersion,
} from '@postern/host/haproxy-place'
import type { Exec } from '@postern/host/processes/exec'
import { PartFailedError } from '../../part.ts'

/** The HAProxy that a start would run. */
export interface HaproxyProgram {
  /**
   * Checks it, and logs once when its version is newer than the tested ones.
   * @returns an id that changes with the program, so that the running one is replaced
   * @throws PartFailedError when it is too old, ProgramMissingError
   */
  look(): Promise<string>
}

export function createProgram(exec: Exec, warn: (message: string) => void): HaproxyProgram {
  let reported: string | undefined
  return {
    async look() {
      const { stdout, stderr } = await exec.run('haproxy', ['-v'])
      const found = parseHaproxyVersion(stdout)
      if (!found)
        throw new PartFailedError(`HAProxy does not start: ${(stderr || stdout).trim().slice(0, 300)}`)
      const { version, isTooOld, isUntested } = found
      if (isTooOld)
        throw new PartFailedError(
          `HAProxy ${shortOf(version)} is too old: Postern needs ${OLDEST_HAPROXY} or later. npm start brings it to Debian 12 and Ubuntu 24.04, and so does the package postern-haproxy`,
        )
      if (isUntested && reported !== version)
        warn(`Postern was not tested with HAProxy ${shortOf(version)}, only up to ${LATEST_HAPROXY}`)
      reported = version
      return `${version} ${findFolder()}`
    },
  }
}

/** A change in one of its libraries also counts; our folder then has another name. */
function findFolder(): string {
  try {
    return readlinkSync(`${HAPROXY_BIN}/haproxy`)
  } catch {
    // The machine's own is in use.
    return ''
  }
}

/** The short form of a version: `3.0.11` of `3.0.11-1+deb13u5`. */
const shortOf = (version: string) => version.split('-')[0]

/**
 * A running HAProxy in words, and whether a newer one waits.
 * @param newest the file with the newest version that this machine can have; it may not exist yet
 */
export function describeRunning(version: string, newest: string): string {
  const waiting = readNewest(newest)
  const isOlder = waiting !== undefined && compareVersions(version, waiting) < 0
  return `HAProxy ${shortOf(version)}${isOlder ? `, update to ${waiting} waits` : ''}`
}

function readNewest(file: string): string | undefined {
  try {
    return parseHaproxyVersion(readFileSync(file, 'utf8').slice(0, 100))?.version
  } catch {
    // The file has not been written since the machine started.
    return undefined
  }
}
