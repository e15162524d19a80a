import { Outlet } from 'react-router'
import { useSession } from '../../api/context.ts'
import { Layout } from './Layout.tsx'

/** Pages stand inside the shell; signed out, which only the not-found page can be, they stand alone. */
export function SessionFrame() {
  const session = useSession()
  if (session.token() === null) return <Outlet />
  return (
    <Layout>
      <Outlet />
    </Layout>
  )
}
