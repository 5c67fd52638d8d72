export { FirstRun } from "./View";
