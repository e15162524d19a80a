import { Pencil } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useMe } from '../../api/queries.ts'
import { ROLES } from '../../components/people/roles.ts'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'

const NameDialog = lazy(async () => ({
  default: (await import('../../forms/account/NameDialog.tsx')).NameDialog,
}))
const PasswordDialog = lazy(async () => ({
  default: (await import('../../forms/account/PasswordDialog.tsx')).PasswordDialog,
}))

/** Name, role and password. */
export function IdentityCard() {
  const me = useMe().data
  const [open, setOpen] = useState<'name' | 'password' | null>(null)
  const close = () => setOpen(null)
  return (
    <section className="card" aria-labelledby="account-identity">
      <header className="card-head">
        <h2 id="account-identity">Name and Password</h2>
        <div className="acts">
          <Button size="sm" icon={Pencil} disabled={!me} onClick={() => setOpen('name')}>
            Change Name
          </Button>
          <Button size="sm" disabled={!me} onClick={() => setOpen('password')}>
            Change Password
          </Button>
        </div>
      </header>
      <div className="card-body">
        {me ? (
          <dl className="account-facts">
            <div>
              <dt>Name</dt>
              <dd dir="auto">{me.username}</dd>
            </div>
            <div>
              <dt>Role</dt>
              <dd>
                {ROLES[me.role].text}
                <span className="sub">{ROLES[me.role].may}</span>
              </dd>
            </div>
            {me.reach && (
              <div>
                <dt>Sees</dt>
                <dd>
                  {countText(me.reach.nodes.length, 'node')} and{' '}
                  {countText(me.reach.domains.length, 'domain')}
                </dd>
              </div>
            )}
          </dl>
        ) : (
          <Skeleton width={40} />
        )}
      </div>
      <Suspense>
        {me && open === 'name' && <NameDialog username={me.username} onClose={close} />}
        {open === 'password' && <PasswordDialog onClose={close} />}
      </Suspense>
    </section>
  )
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
