import { createExec } from '@postern/host/exec'

let known: Promise<boolean> | undefined

/** Whether the HAProxy of this test run is 3.0 or later, which differs in how it refuses (decision 0055). */
export function isHaproxy3(): Promise<boolean> {
  known ??= readMajor().then((major) => major >= 3)
  return known
}

/** @returns what may come of something: exactly the first on 2.6, any of them on later releases */
export async function possibleOutcomes<T>(outcomes: readonly T[]): Promise<readonly T[]> {
  return (await isHaproxy3()) ? outcomes : outcomes.slice(0, 1)
}

async function readMajor(): Promise<number> {
  const { stdout } = await createExec().run('haproxy', ['-v'])
  const [, major] = /^HAProxy version (\d+)\./.exec(stdout) ?? []
  if (major === undefined) throw new Error(`haproxy -v says ${JSON.stringify(stdout.slice(0, 80))}`)
  return Number(major)
}
