/** Tests start the built programs, as an installation does; this builds those whose sources have changed. */
export { buildWhatIsStale as setup } from '../scripts/bootstrap/build.mjs'
