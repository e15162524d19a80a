import { lstat, readdir, rmdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '@postern/host/errors'

/** A copy: a folder with these two files, as a restore needs them. */
export const [DATABASE, KEY] = ['postern.db', 'secret.key'] as const

export interface Copy {
  name: string
  /** When it was begun, in ms since the epoch. */
  at: number
  /** The size of the database, in bytes. */
  bytes: number
}

const NAME = /^postern-(\d{4}-\d\d-\d\dT)(\d\d)(\d\d)(\d\d)Z$/
const PARTIAL = /^\.postern-\d{4}-\d\d-\d\dT\d{6}Z\.partial$/

/** Like `postern-2026-03-02T120005Z`: in the order of time, and without what other file systems refuse. */
export function nameOf(at: number): string {
  return `postern-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '')}Z`
}

/** Its name until it is complete. */
export const partialOf = (name: string) => `.${name}.partial`

function timeOf(name: string): number {
  return Date.parse(name.replace(NAME, '$1$2:$3:$4Z'))
}

/** The complete copies, newest first; none if the directory does not exist yet. */
export async function listCopies(directory: string): Promise<Copy[]> {
  const copies: Copy[] = []
  for (const name of await listFolders(directory, NAME)) {
    const bytes = await findSize(join(directory, name, DATABASE))
    if (bytes !== undefined) copies.push({ name, at: timeOf(name), bytes })
  }
  return copies.sort((a, b) => b.at - a.at)
}

/** Removes incomplete copies that a killed server has left behind. */
export async function removeHalves(directory: string): Promise<void> {
  for (const name of await listFolders(directory, PARTIAL)) await removeCopy(join(directory, name))
  for (const name of await listFolders(directory, NAME)) {
    const folder = join(directory, name)
    if ((await findSize(join(folder, DATABASE))) === undefined) await ignoring(CLOSED, removeCopy(folder))
  }
}

/** Keeps this many copies and removes the rest. */
export async function removeOld(directory: string, keep: number, now: number): Promise<void> {
  const copies = await listCopies(directory)
  for (const { name } of rank(copies, now).slice(keep)) await removeCopy(join(directory, name))
}

/**
 * The newest copy of each day first, so that many manual copies of one day do not push out earlier days. Copies dated
 * in the future were made by a wrong clock, and come last.
 */
function rank(copies: readonly Copy[], now: number): Copy[] {
  const past = copies.filter(({ at }) => at <= now)
  const ofDays = new Map(past.toReversed().map((copy) => [dayOf(copy), copy]))
  const isOfDay = (copy: Copy) => ofDays.get(dayOf(copy)) === copy
  return [
    ...past.filter(isOfDay),
    ...past.filter((copy) => !isOfDay(copy)),
    ...copies.filter(({ at }) => at > now),
  ]
}

const dayOf = ({ at }: Copy) => Math.floor(at / 86_400_000)

/** What SQLite puts beside a database that somebody has opened, and beside one that is being made. */
const BESIDE = ['-wal', '-shm', '-journal']

/** Removes only the files of a copy: a folder that holds anything else stays. */
export async function removeCopy(folder: string): Promise<void> {
  for (const file of [DATABASE, ...BESIDE.map((ending) => `${DATABASE}${ending}`), KEY])
    await ignoring(['ENOENT'], unlink(join(folder, file)))
  await ignoring(['ENOENT', 'ENOTEMPTY', 'EEXIST'], rmdir(folder))
}

/** Real folders only: links are not followed. Where others may write, only our own. */
async function listFolders(directory: string, pattern: RegExp): Promise<string[]> {
  const entries = (await ignoring(['ENOENT'], readdir(directory, { withFileTypes: true }))) ?? []
  const named = entries
    .filter((entry) => entry.isDirectory() && pattern.test(entry.name) && isTime(entry.name))
    .map(({ name }) => name)
  if (named.length === 0 || !(await isShared(directory))) return named
  const own = await Promise.all(named.map((name) => isOwn(join(directory, name))))
  return named.filter((_, index) => own[index])
}

/** Whether others may put folders there, whose names would push out our copies. */
async function isShared(directory: string): Promise<boolean> {
  return ((await stat(directory)).mode & 0o022) !== 0
}

async function isOwn(folder: string): Promise<boolean> {
  const found = await ignoring(['ENOENT'], lstat(folder))
  return found?.isDirectory() === true && found.uid === process.geteuid?.()
}

const isTime = (name: string) => PARTIAL.test(name) || !Number.isNaN(timeOf(name))

/** The codes of a folder that is not ours to remove. */
const CLOSED = ['EACCES', 'EPERM']

async function findSize(file: string): Promise<number | undefined> {
  const found = await ignoring(['ENOENT', ...CLOSED], lstat(file))
  return found?.isFile() ? found.size : undefined
}

async function ignoring<T>(codes: readonly string[], work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (codes.includes(codeOf(error))) return undefined
    throw error
  }
}
