import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { must } from '@postern/host/processes/exec'
import { ROOT } from '../lib/environment.ts'
import { readLicences } from './licences.ts'

/** The files of a package, as they will be on the machine. */
export interface Stage {
  dir: string
  /** @param path from the root of the machine */
  put(path: string, content: string | Buffer, mode?: number): void
  /** A file, or a folder with what is in it. */
  copy(from: string, path: string, mode?: number): void
}

export interface DebOptions {
  /** A folder of deploy/debian: control, scripts, conffiles and what else belongs to this package alone. */
  name: 'server' | 'agent' | 'haproxy'
  version: string
  /** The timestamp of all files in seconds since 1970, so that the same sources give the same package. */
  epoch: number
  /** The compression for dpkg-deb; xz gives the smallest package, and takes a minute. */
  compression: 'xz' | 'none'
  fill(stage: Stage): void | Promise<void>
}

/** Where a package keeps them. */
const SCRIPTS = ['postinst', 'prerm', 'postrm']

/** Writes a Debian package into a directory. @returns its file */
export async function writeDeb(target: string, options: DebOptions): Promise<string> {
  const stage = createStage()
  try {
    await options.fill(stage)
    writeDocuments(stage, options)
    writeControl(stage, options)
    setTimes(stage.dir, options.epoch)
    const built = await must(
      'dpkg-deb',
      // One thread: the archive would depend on the number of threads.
      ['--root-owner-group', `-Z${options.compression}`, '--threads-max=1', '--build', stage.dir, target],
      { timeoutMs: 600_000, env: { PATH: '/usr/bin:/bin', SOURCE_DATE_EPOCH: String(options.epoch) } },
    )
    return /in '([^']+)'/.exec(built)?.[1] ?? ''
  } finally {
    rmSync(stage.dir, { recursive: true, force: true })
  }
}

function createStage(): Stage {
  const dir = mkdtempSync(join(tmpdir(), 'postern-deb-'))
  chmodSync(dir, 0o755)
  const place = (path: string) => {
    const file = join(dir, path)
    mkdirSync(dirname(file), { recursive: true })
    return file
  }
  return {
    dir,
    put(path, content, mode = 0o644) {
      const file = place(path)
      writeFileSync(file, content)
      chmodSync(file, mode)
    },
    copy(from, path, mode = 0o644) {
      const file = place(path)
      cpSync(from, file, { recursive: true })
      for (const each of listBelow(file)) chmodSync(each, statSync(each).isDirectory() ? 0o755 : mode)
    },
  }
}

/** A path and everything below it. */
function listBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return [path, ...readdirSync(path).flatMap((name) => listBelow(join(path, name)))]
}

/** The files of deploy/debian, with their marks filled in. */
export function readTemplate(
  name: DebOptions['name'],
  file: string,
  values: Record<string, string> = {},
): string {
  return readFileSync(join(ROOT, 'deploy/debian', name, file), 'utf8').replace(
    /@([A-Z_]+)@/g,
    (mark, key) => {
      const value = values[key]
      if (value === undefined) throw new Error(`${mark} of ${file} is not filled in`)
      return value
    },
  )
}

/** What Debian requires besides the programs; the changelog has the version and its date. */
function writeDocuments(stage: Stage, { name, version, epoch }: DebOptions): void {
  const doc = `usr/share/doc/postern-${name}`
  stage.put(`${doc}/copyright`, readTemplate(name, 'copyright'))
  if (name !== 'haproxy')
    stage.put(`${doc}/licenses-of-npm-packages.gz`, gzipSync(readLicences(), { level: 9 }))
  stage.put(`usr/share/lintian/overrides/postern-${name}`, readTemplate(name, 'lintian-overrides'))
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
  const text = `postern-${name} (${version}) stable; urgency=medium\n\n  * Version ${version}.\n\n -- ${MAINTAINER}  ${date}\n`
  stage.put(`${doc}/changelog.gz`, gzipSync(text, { level: 9 }))
}

const MAINTAINER = 'Postern <postern@localhost>'

function writeControl(stage: Stage, { name, version }: DebOptions): void {
  const files = listBelow(stage.dir).filter((file) => statSync(file).isFile())
  const size = Math.ceil(files.reduce((sum, file) => sum + statSync(file).size, 0) / 1024)
  const sums = files.map((file) => `${md5(file)}  ${file.slice(stage.dir.length + 1)}\n`).sort()
  stage.put('DEBIAN/md5sums', sums.join(''))
  const values = { VERSION: version, SIZE: String(size), MAINTAINER }
  stage.put('DEBIAN/control', readTemplate(name, 'control', values))
  const has = (file: string) => existsSync(join(ROOT, 'deploy/debian', name, file))
  for (const script of SCRIPTS.filter(has)) stage.put(`DEBIAN/${script}`, readTemplate(name, script), 0o755)
  if (has('conffiles')) stage.put('DEBIAN/conffiles', readTemplate(name, 'conffiles'))
}

const md5 = (file: string) => createHash('md5').update(readFileSync(file)).digest('hex')

function setTimes(dir: string, epoch: number): void {
  for (const path of listBelow(dir)) lutimesSync(path, epoch, epoch)
}
