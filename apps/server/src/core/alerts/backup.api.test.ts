import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fresh } from '@postern/testkit/shared'
import { tempDir } from '@postern/testkit/temp-dir'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, startAlertLab } from '../../../test/alert-lab.ts'

const DAY = 24 * HOUR

let directory: string
const lab = fresh(() => {
  directory = join(tempDir(), 'copies')
  return startAlertLab({
    settings: { POSTERN_BACKUP_DIR: directory },
    world: { disk: async () => ({ free: 9e11, total: 1e12 }) },
  })
})

const upkeep = () => lab.server.context.backups.upkeep()

/** Nobody can make a directory where there is a file. */
const breakIt = () => writeFileSync(directory, '')

async function passWithUpkeep(ms: number, step: number) {
  for (let left = ms; left > 0; left -= step) {
    await upkeep()
    await lab.pass(Math.min(step, left))
  }
}

test('a backup that fails is told once, each day again, and when there is a good one', async () => {
  await lab.connectEdge()
  await lab.addNtfy()
  breakIt()
  await upkeep()
  await lab.pass(3 * MINUTE)
  expect(lab.titles()).toEqual(['The backup of 203.0.113.1 failed'])
  const body = lab.receiver.received[0]?.body
  expect(body?.message).toContain(
    `No backup could be made in ${directory}: It is not a directory. Choose another.`,
  )
  expect(body?.click).toBe('https://203.0.113.1/settings')
  await passWithUpkeep(12 * HOUR, HOUR)
  expect(lab.titles()).toHaveLength(1)
  await passWithUpkeep(13 * HOUR, HOUR)
  expect(lab.titles().slice(1)).toEqual(['Still: The backup of 203.0.113.1 failed'])
  rmSync(directory)
  await passWithUpkeep(2 * HOUR, HOUR)
  expect(lab.titles().slice(2)).toEqual(['The backups of 203.0.113.1 are fine again'])
  expect(await lab.open()).toEqual([])
})

test('a restart neither ends the alert nor tells it again', async () => {
  await lab.connectEdge()
  await lab.addNtfy()
  breakIt()
  await upkeep()
  await lab.pass(3 * MINUTE)
  await lab.restart()
  await lab.connectEdge()
  await lab.pass(5 * MINUTE)
  await upkeep()
  await lab.pass(5 * MINUTE)
  expect(lab.titles()).toEqual(['The backup of 203.0.113.1 failed'])
  expect((await lab.open()).map(({ kind }) => kind)).toEqual(['backup-failed'])
})

test('no copy for two days is told although nothing failed', async () => {
  await lab.connectEdge()
  await lab.addNtfy()
  await upkeep()
  await lab.pass(DAY)
  expect(lab.titles()).toEqual([])
  await lab.pass(DAY + 3 * MINUTE)
  expect(lab.titles()).toEqual(['The backup of 203.0.113.1 failed'])
  expect(lab.receiver.received[0]?.body.message).toContain('There has been no backup in')
  await upkeep()
  await lab.pass(3 * MINUTE)
  expect(lab.titles().slice(1)).toEqual(['The backups of 203.0.113.1 are fine again'])
})
