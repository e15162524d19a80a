import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../lib/environment.ts'

interface Lock {
  packages: Record<string, { version?: string; license?: string; dev?: boolean; link?: boolean }>
}

/** Where Node itself is part of a package, it has its own file. */
const NODE = /^node_modules\/node-linux-/

/** The licences of all npm packages that may be part of a build, one after the other. */
export function readLicences(): string {
  // npm's own format.
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock
  return Object.entries(lock.packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && !NODE.test(path) && !dev && !link)
    .filter(([path]) => existsSync(join(ROOT, path)))
    .map(([path, { version = '', license = 'see below' }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return `${name} ${version} (${license})\n\n${findText(join(ROOT, path))}`
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}

function findText(dir: string): string {
  const names = readdirSync(dir).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  return names.map((name) => readFileSync(join(dir, name), 'utf8').trim()).join('\n\n')
}
