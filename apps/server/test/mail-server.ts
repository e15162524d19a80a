import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { issueLeaf, issueRoot } from '../src/certificates/issue.ts'

interface Mail {
  from: string
  to: string[]
  username: string | null
  isTls: boolean
  /** As it came, with its headers. */
  text: string
}

/** A real mail server, with a certificate for `mail.example.com` of an authority of its own. */
export async function startMailServer({
  security,
  refuses,
  ports = [0],
}: {
  security: 'tls' | 'starttls' | 'none'
  /** A text that its filter refuses for good. */
  refuses?: string
  /** The first that is free is taken. */
  ports?: readonly number[]
}) {
  const now = new Date()
  const root = await issueRoot('Root of a test', now)
  const leaf = await issueLeaf(root, ['mail.example.com'], now)
  const mails: Mail[] = []
  const server = new SMTPServer({
    secure: security === 'tls',
    key: leaf.privateKey,
    cert: leaf.certificate,
    authOptional: true,
    disabledCommands: security === 'none' ? ['STARTTLS'] : [],
    allowInsecureAuth: security === 'none',
    onAuth: ({ username, password }, _session, done) =>
      username === 'ann' && password === 'right password'
        ? done(null, { user: username })
        : done(new Error('No, and this text is from the server')),
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('nobody@') ? new Error('No such mailbox here') : null),
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const whole = Buffer.concat(chunks).toString('utf8')
        if (refuses !== undefined && whole.replace(/\r\n[ \t]/g, ' ').includes(refuses))
          return done(Object.assign(new Error('Filtered'), { responseCode: 554 }))
        mails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          username: typeof session.user === 'string' ? session.user : null,
          isTls: session.secure,
          text: whole,
        })
        done()
      })
    },
  })
  const free = await Promise.any(ports.map(async (port) => (port === 0 ? 0 : await findFree(port))))
  await new Promise<void>((resolve) => server.listen(free, '127.0.0.1', resolve))
  // Whoever is refused hangs up in the middle.
  server.on('error', () => undefined)
  return {
    // A TCP listener has this kind of address.
    port: (server.server.address() as AddressInfo).port,
    ca: root.certificate,
    mails,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** @throws when it is taken */
async function findFree(port: number): Promise<number> {
  const probe = createServer().listen(port, '127.0.0.1')
  await once(probe, 'listening')
  probe.close()
  await once(probe, 'close')
  return port
}
