import { readFileSync } from 'node:fs'

export interface ContainerUser {
  uid: number
  gid: number
  additionalGids: number[]
}

/** Finds `name`, `uid`, `name:group` and the like in the files of an image, as Docker does. @throws for an unknown name */
export function resolveUser(rootfs: string, user: string, groups: readonly string[]): ContainerUser {
  const passwd = rows(rootfs, 'passwd')
  const [who = '0', ownGroup] = (user || '0').split(':')
  const row = passwd.find(([name, , uid]) => name === who || uid === who)
  if (!row && !/^\d+$/.test(who)) throw new Error(`the image has no user ${who}`)
  const uid = Number(row?.[2] ?? who)
  const gid = ownGroup ? groupId(rootfs, ownGroup) : Number(row?.[3] ?? 0)
  const listed = ownGroup
    ? []
    : rows(rootfs, 'group').flatMap(([, , id, members]) =>
        row && members?.split(',').includes(row[0] ?? '') ? [Number(id)] : [],
      )
  return {
    uid,
    gid,
    additionalGids: [...new Set([...listed, ...groups.map((name) => groupId(rootfs, name))])],
  }
}

function groupId(rootfs: string, name: string): number {
  const id = /^\d+$/.test(name) ? name : rows(rootfs, 'group').find(([found]) => found === name)?.[2]
  if (id === undefined) throw new Error(`the image has no group ${name}`)
  return Number(id)
}

const rows = (rootfs: string, file: string) =>
  readFileSync(`${rootfs}/etc/${file}`, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(':'))
