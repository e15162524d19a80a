import { constants } from 'node:fs'
import { mkdir, open, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Disk } from '@postern/host/disk'
import { codeOf } from '@postern/host/errors'
import { syncDirectory } from '@postern/host/files'
import { copyDatabase } from '../../db/copy.ts'
import { readKeyOf } from '../secrets/key-file.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { DATABASE, KEY, nameOf, partialOf, removeCopy, removeHalves, removeOld } from './copies.ts'
import { BackupError } from './words.ts'

export interface Sources {
  database: string
  secretKey: string
  secrets: Secrets
  disk(directory: string): Promise<Disk | null>
}

export interface Place {
  directory: string
  keep: number
}

/** The room that a copy needs, relative to its size. */
const ROOM = 1.1

/**
 * Makes a copy under another name, which it gets when all of it is on the disk; then removes old ones.
 * @returns its name
 * @throws BackupError, or the system's or SQLite's error; earlier copies are still there then
 */
export async function makeCopy(
  sources: Sources,
  { directory, keep }: Place,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<string> {
  await prepare(directory)
  await removeHalves(directory)
  // Before, so that fewer can be kept where there is no room for one more.
  await removeOld(directory, keep, now)
  const name = nameOf(now)
  const partial = join(directory, partialOf(name))
  // Fails where there is anything of this name, even a link: so all below is in a folder of ours.
  await mkdir(partial, { mode: 0o700 })
  try {
    await checkClosed(partial)
    await fill(sources, partial, signal)
    await rename(partial, join(directory, name))
  } catch (error) {
    // Anything left is removed before the next copy.
    await removeCopy(partial).catch(() => undefined)
    throw error
  }
  await syncDirectory(directory)
  await removeOld(directory, keep, now)
  return name
}

async function fill({ disk, ...sources }: Sources, folder: string, signal: AbortSignal): Promise<void> {
  const database = join(folder, DATABASE)
  await writeNew(database, '')
  await copyDatabase(sources.database, database, {
    signal,
    onSize: (bytes) => checkRoom(disk, folder, bytes),
  })
  await syncFile(database)
  await writeNew(join(folder, KEY), readKeyOf(sources.secretKey, sources.secrets))
  for (const file of [database, join(folder, KEY)]) await checkClosed(file)
  await syncDirectory(folder)
}

/** Creates the directory but none of its parents, so that an unmounted disk is noticed. */
async function prepare(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  const { mode } = await stat(directory)
  if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0)
    throw new BackupError(
      `Everybody on this machine may write to ${directory}, so a copy could be exchanged there. Take that right away with chmod o-w.`,
    )
}

/** Some file systems have no rights of their own. @throws BackupError when others could read it */
async function checkClosed(path: string): Promise<void> {
  const { mode } = await stat(path)
  if ((mode & 0o077) === 0) return
  throw new BackupError(
    'The file system of the directory does not keep the rights of files, so others could read the key. Mount it with umask=077, or file_mode=0600 and dir_mode=0700, or choose another directory.',
  )
}

async function checkRoom(disk: Sources['disk'], folder: string, bytes: number): Promise<void> {
  const room = await disk(folder)
  const needed = Math.ceil(bytes * ROOM)
  if (room === null || room.free >= needed) return
  throw new BackupError(
    `The copy needs ${inMegabytes(needed)}, and the disk of the directory has ${inMegabytes(room.free)} left. Make room there, or keep fewer copies with POSTERN_BACKUP_KEEP.`,
  )
}

const inMegabytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MB`

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
