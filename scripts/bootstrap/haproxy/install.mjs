import { readdirSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findMirrors, makeFolder, must, openApt } from './apt.mjs'
import { assembleHaproxy, digestOf, PACKAGED, PACKAGES, readManifest, versionIn } from './assemble.mjs'

const DAY = 24 * 3600 * 1000

/**
 * Installs the newest HAProxy of a Debian release below `place`: a folder for it in `place/haproxy`, and the link
 * `place/bin/haproxy`, which is replaced atomically. What runs is not touched, and a failure changes nothing. It
 * checks once a day.
 * @param cache a folder for apt's lists
 * @returns the installed version, and whether it is new
 */
export async function installHaproxy(place, cache, suite = 'trixie', mirrors = findMirrors()) {
  const current = readManifest(currentFolder(place))
  const stamp = join(cache, 'asked')
  const asked = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (current.length > 0 && Math.abs(Date.now() - asked) < DAY)
    return { version: versionIn(current), isNew: false }
  const apt = await openApt(suite, cache, mirrors)
  await apt.update()
  const newest = await apt.list(PACKAGES)
  const isNew = current.length === 0 || !current.every((name) => newest.includes(name))
  if (isNew) await install(apt, { place, cache, newest })
  writeFileSync(stamp, '')
  return { version: versionIn(newest), isNew }
}

async function install(apt, { place, cache, newest }) {
  const folders = join(place, 'haproxy')
  for (const folder of [place, folders, join(place, 'bin')]) makeFolder(folder)
  const target = join(folders, `${versionIn(newest)}-${digestOf(newest)}`)
  const next = join(folders, 'next')
  rmSync(next, { recursive: true, force: true })
  try {
    const archives = await apt.download(PACKAGES)
    await assembleHaproxy(archives, { folder: next, place: target, work: join(cache, 'unpacked') })
    rmSync(target, { recursive: true, force: true })
    renameSync(next, target)
    await must(join(target, 'haproxy'), ['-v'])
    linkTo(place, target)
  } finally {
    rmSync(next, { recursive: true, force: true })
    apt.forgetFiles()
  }
  removeOthers(place, target)
}

/** The folder of the program that the link points to. */
export function currentFolder(place) {
  const link = join(place, 'bin/haproxy')
  try {
    return join(dirname(link), dirname(readlinkSync(link)))
  } catch {
    // Nothing was installed there.
    return join(place, 'haproxy/none')
  }
}

function linkTo(place, target) {
  const link = join(place, 'bin/haproxy')
  rmSync(`${link}.next`, { force: true })
  symlinkSync(join('..', target.slice(place.length + 1), 'haproxy'), `${link}.next`)
  renameSync(`${link}.next`, link)
}

/** A HAProxy that still runs has its files open. */
function removeOthers(place, current) {
  for (const name of readdirSync(join(place, 'haproxy'))) {
    const folder = join(place, 'haproxy', name)
    if (folder !== current && !name.startsWith(PACKAGED)) rmSync(folder, { recursive: true })
  }
}
