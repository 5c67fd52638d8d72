export { TopBar } from "./View";
