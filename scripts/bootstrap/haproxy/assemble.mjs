import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { makeFolder, must } from './apt.mjs'

/** Prefix of the folder that the Debian package postern-haproxy installs; it is not ours to remove. */
export const PACKAGED = 'package'

/** What is taken from the release: HAProxy, and the loader that finds its libraries. */
export const PACKAGES = ['haproxy', 'patchelf']

/** Lists the packages that the files of a folder are from, one file name on each line. */
const MANIFEST = 'packages'

/**
 * Makes a folder with HAProxy, its libraries and their loader from downloaded packages. Once moved to its place, it
 * runs beside whatever the machine has.
 * @param archives a folder of packages, with all that they depend on
 * @param folder where to make it
 * @param place where it will be
 * @param work a folder for the meantime
 */
export async function assembleHaproxy(archives, { folder, place, work }) {
  rmSync(work, { recursive: true, force: true })
  try {
    const release = await unpack(archives, work)
    await copyFiles(release, folder)
    await setLoader(release, folder, place)
    // Once in place it needs no help to run.
    const loader = join(folder, 'lib', basename(release.loader))
    await must(loader, ['--library-path', join(folder, 'lib'), join(folder, 'haproxy'), '-v'])
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Each package has a folder of its own, so that a file's path names its package. */
async function unpack(archives, work) {
  const roots = []
  for (const name of readdirSync(archives).filter((each) => each.endsWith('.deb'))) {
    const root = join(work, name)
    mkdirSync(root, { recursive: true })
    await must('dpkg-deb', ['--extract', join(archives, name), root])
    roots.push(root)
  }
  // Releases before 2025 have some libraries in /lib.
  const folders = roots.flatMap((root) =>
    listTriplets(join(root, 'usr/lib')).concat(listTriplets(join(root, 'lib'))),
  )
  const loader = folders.flatMap(listLoaders)[0]
  if (loader === undefined) throw new Error('the packages contain no loader')
  return {
    work,
    loader,
    find: (path) => roots.map((root) => join(root, path)).find((file) => existsSync(file)) ?? path,
    /** Runs a program of the release with its own libraries. */
    argv: (program, ...args) => [loader, ['--library-path', folders.join(':'), ...args, program]],
  }
}

function listTriplets(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('-linux-gnu'))
    .map((name) => join(folder, name))
}

function listLoaders(folder) {
  return readdirSync(folder)
    .filter((name) => /^ld-linux.*\.so\.\d+$/.test(name))
    .map((name) => join(folder, name))
}

async function copyFiles({ work, find, argv }, folder) {
  const program = find('usr/sbin/haproxy')
  const listed = await must(...argv(program, '--list'))
  const libraries = [...listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, file]) => file)
  const missing = libraries.filter((file) => !file.startsWith(`${work}/`))
  if (missing.length > 0) throw new Error(`the packages do not contain ${missing.join(', ')}`)
  for (const name of ['', 'lib']) makeFolder(join(folder, name))
  copyFile(program, join(folder, 'haproxy'))
  for (const file of libraries) copyFile(file, join(folder, 'lib', basename(file)))
  const names = [program, ...libraries].map((file) => file.slice(work.length + 1).split('/')[0])
  const packages = [...new Set(names)]
  writeFileSync(join(folder, MANIFEST), packages.map((name) => `${name}\n`).join(''))
  makeFolder(join(folder, 'copyright'))
  for (const file of packages) copyCopyright(join(work, file), find, folder)
}

/** Some packages only refer to another one that has their text. */
function copyCopyright(root, find, folder) {
  const name = basename(root).split('_')[0]
  const documents = join(root, 'usr/share/doc', name)
  const own = lstatSync(documents).isSymbolicLink() ? readlinkSync(documents) : name
  const from = find(join('usr/share/doc', own, 'copyright'))
  copyFile(from, join(folder, 'copyright', name))
}

/** With Debian's modes, whatever the umask. */
function copyFile(from, to) {
  copyFileSync(from, to)
  chmodSync(to, statSync(from).mode & 0o755)
}

async function setLoader({ loader, find, argv }, folder, place) {
  const program = join(folder, 'haproxy')
  const libraries = join(place, 'lib')
  const [start, [...args]] = argv(find('usr/bin/patchelf'))
  await must(start, [...args, '--set-interpreter', join(libraries, basename(loader)), program])
  await must(start, [...args, '--force-rpath', '--set-rpath', libraries, program])
}

/** The packages that the files of a folder are from; empty when nothing was made there. */
export function readManifest(folder) {
  const file = join(folder, MANIFEST)
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

/** Tells sets of packages apart: libraries get updates too, so HAProxy's version is not enough. */
export function digestOf(names) {
  return createHash('sha256')
    .update([...names].sort().join('\n'))
    .digest('hex')
    .slice(0, 8)
}

/** The version in a file name such as `haproxy_3.0.11-1+deb13u5_amd64.deb`; %3a stands for a colon. */
export function versionIn(names, name = 'haproxy') {
  const file = names.find((each) => each.startsWith(`${name}_`))
  return file?.split('_')[1]
}
